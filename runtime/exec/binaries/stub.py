"""The machine code of stub.c, written by tools/derive_stub.py: bytes in base 85 and where its functions begin."""

CODE = {
    "x86_64": (
        (
            "RY-~DNQ30?NP+Bt0001q1SCj_d?W}+iF70oNQqP=7)XgsBp^(QL?kFoiA*FgNR34hNQp!wNM;Y#L?l>d57ta1U}g{2R3vC-57t~Ha7c;g=#c>c0LjBuNMrxK"
            "EC2uiQ%H%^x_|%x071F{KmY(mF~CJJ$w-Ol4+Thx!AOJn{B-6>g}`_<x<CK`0KF{$002cX(nT@AMKQ@piReg)-VX&xgZTV(=}3e4KuE{I;Q#;sxBvhE07wr+"
            "$ViFETV2CJS4A<>L5crGF~C7qMKQ_00RR91z6AgX06|qT(m_-~yeR+x098zh;8PC;g}@Jp+yDRoNR1u+{{R0;iNryP#z<rMxGDeu0E?3d00;m`jk62@2mlWS"
            "NQJ-;h_3(u07#94fFTF~NR6w20SEv{i9{s$M2l?zL5)TKgZTY-JBzyj00;m?iS9))(nT@AMKQ@S(zxmX000jKNQJ<88$^ldgUSE!53x-Ebq+{leFV4z0000;"
            "iPjGVNQ1=)NI7gI_;sx@$w7@24}s$U0{{St)<}cKFpGrq000O8jd=fq|NV9xfx<8V0RTwB;sfwR53xKGbqYj@r1Jy-2mtF4|G|Oz00aO4b-U{XL4(f!TSSTQ"
            "T|rzyT|r(!U&BFHG15gb(nT@AK~_aE$+)@z002md)<IQ4R7r{aNQu`~Q%HgA*Z=?k4+Th#9pnA~|3QgFBm{}YNR5L400;m{i9{rLxF-Mr01pK_g8%>s0CZ4E"
            "iN;BZ-As+U03ZMWL5qce0SEy9$b<O(cN{U&Nn^c)0SEv^G15gbz(q01xB~zH07!|}4+Sy6NrS}*L5YQU0SEw1IsJ9SM2WKi00;mv(v3tF044te002mXz%Yx9"
            "!vFvX06EQd3Pg*n!vp{b0P7fq$#e?;!h!k#1ONba(24Kp|NZ~}L5amkjYK36Oo`@1iSI~>!bpikBnaqu{r~?+g}`}hOpUXE0SEv|WBo{h!+;?O06~M#|3SS2"
            "0000%J1%t`iRkb}53xRV6EV_7G15gbz(q01Oo`}7iPjGVNrT1+OgZy))`{=vll}kyNQ+b?2uz9QiN`^S#po6N|Nlsd!no%H002mZ(s+9@+enK{BoIi8L?jqU"
            "g~@bkNdL)9i%cX)Op8P$Kun8NBsfTmR3tD+i*zI?NQ-<VAaw)}1?vS&iP8ViNQuHojeI0viP(v3BveR=R3uor8~^|SNQ+b?2uO`|BvA9KM2YXmL?lrD|NnpJ"
            "m;C?#NQJ<8jJW3m002mV#Ml4;09#!_TtQtyUO`{OiTJ}viTFr~`bdfXiVB3ubPP!U!hrcNNDoBv>+VR6J^TCr|45CO009U9fI0wlBS?wyM2Z4MgurweL^=U="
            "2uT0JNdLj>>xv3U|H6dHb@%Jo!+<#eb?-=xhkyVG0K-U)1-JYE|Hps?00;m90000nz{5y^?1%sW0J$Fk001$-NR50X1jhs<|NsAg^Q(pSbs$KM1%vzl|AV*$"
            "00;m8bPzGpNQvi(kOTk-0O(Zx|NlsV#E1X@0K)"
        ),
        {"entry": 0, "la_objopen": 1090, "la_activity": 1110, "la_objsearch": 995, "la_version": 992},
    ),
    "aarch64": (
        (
            "{d>2m{R04z@Dl*J;D-UJ;*SEU<d*}f=AQ(q;6nnD;G+ep;D-in;*SSy;6nhB0{{S&{d>u%zyn{_|HA{({$l|7NEU!n;R7G4_E!z5mi_+_;sYP5^iK|{^aB8@"
            "-~%73;{zY6<O3h7<pUq80RRBh^8)~?$O1x<lLi2}-~%73;R7G4h&}-Mh!ucR;sYP5;{zY6<O3h7<pUq80RRBh2mzo{=>q_&$ZBY~9{~w#paK9?$O1x<3xI%9"
            "3IPU@NC7~(2n7I99}NI8C;<ReKm~xgC<lO2;R7G4;sYP5;{zY6<O3h7<pUq80RRBhYXt!DUxfg;LH_?#2mzo{$!aLL2rz(B>VJSz=>rog2mzpSEF}OE%T6qd"
            "ZE0w@zX20#Kmh<$tpETt>jMfZN(BH>DFpx#>;C^W-~$sXYXAV0^#cGZ1ONaO$PNsP2?0WpHHAUB;sXMa-~$yZ;R6(^NB{topal4~seV9{3ow9E>H{CD3jv^V"
            "3;=)<$PNmN2muR=4FN#8zX20#!2tkN4gFt;zX20#;Q;_t4E+s=jsO2O-~$P&C<lO2;R7G4;sYP5;{zY6<O3h7<pUq80RRBhN(BIsUjY#DfB*ng>;L~3Uq1uY"
            "`~UwJ-~$sXLI41i;sXMa;R6(^^#cGZBme-EfCKoq^aB8q_IDpL=_5#~KLr5s-~a$r=>h<>;0H;m;txux<QGe+00BSN1pojP;0H;m;txux<QGe+0RRBh0OSB~"
            ";0FNt;R67X;sXMa-~$yZ_D=vQfC2%nfC2)ofC2-pfC7O$2><|;0R8{A=zM@u^iNKy-~$M%_E$}*{$oJ-|HA{3zyn{_3VcA5=>r0)-~$S($QgiA0uX>w0|1Cp"
            "<O3h7<pUq80RRBh9}obs0RR6~zybKT-~$S(=ox@g;R6Y(0tkRo;{zY6<O3h7<pUq80RRBh9}obs;Qs$q9{>UI=mUU~-~))7zyn{_=>q^Np#XqVAOL_;$QXc9"
            "0Rf<L;sYP5;{zY6<O3h7<pUq80RRBh>H`3(Y6kc>3+Mk3=z|S1KzTrtVrgi&XaPcz;{zY60WkoPXc>S~<O3h7<pUq80RRBh-~{-$4KRRG>;oUF4gsK24FRBX"
            "4*-A?XblXD5CIK~0Rlj|C<Fje9}NI8$N~UVU}<i+Xb^x>;sYP5;{zY6<O3h7<pUq80RRBhzybKS2>xG)9{~Yt;Q;_t5B>;<i2wgJ00w}$C<lO2;R7G4;sYP5"
            ";{zY6<O3h7<pUq80RRBhj0FIZp8*i@Vf_D81pojPUq1uY`~UwJ3IKo-7ytki3^0IF=mQ@r3<02W4FL%Ytt9{wZA~qUtpN;+t^q)~&jkPx{{;YX2mt_8ul-+$"
            "{{aqbfdBwhsr?U#kN^KQ1^@sQUq1uY2n7HU9{~_?;r;(q0ssIMss#YK-~$ROzyn{_zyn{_2m}C;;R67w3GrVzKfM5PU;qGAsQ>^p0ssIM;R6V&2n7I<`TzeH"
            "2;Bb=2?0WpDgi_}3IYH$2?0Wp>jMF*DFFnLY!yH_UjYnjp#T6>Djh&LivRyLY5_nw>Hq*VDiuID>i_>WDgi(_>jMF*s{a2qzyn{_2mwNo009D#zyn{_i2#67"
            "2-*J--~%5j2?3yTDgb~|3TY|0zyn{_|3d=N0OSB~2mr7W{zCxy-~#}y-~$1z-~$4!-~$7#=mP+`K>+|Y2-p7*2?0WpDFr~e$p8Q}i2#67-~#}W2?3yTA89GL"
            "zyAN1{zE|d|3d<izyn{_"
        ),
        {"entry": 0, "la_version": 1108, "la_objsearch": 1112, "la_objopen": 1244, "la_activity": 1272},
    ),
}
